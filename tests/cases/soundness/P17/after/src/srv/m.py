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
    y = g(x)
    r = R(x=x, y=y)
    return r.x * r.y
