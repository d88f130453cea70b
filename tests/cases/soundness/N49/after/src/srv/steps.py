from dataclasses import dataclass


@dataclass
class Budget:
    left: int


def spend(budget):
    done = 0
    while budget.left:
        budget.left -= 1
        done += 1
    return done
