from dataclasses import dataclass


@dataclass
class Job:
    n: int

    def cost(self):
        return self.n * 2
