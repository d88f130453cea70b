from dataclasses import dataclass


def g(x):
    return x + 1


@dataclass
class R:
    x: int
    y: int

    def __post_init__(self):
        self.y = -self.y


def f(a):
    x = g(a)
    r = R(x=x, y=g(x))
    return r.x * r.y
