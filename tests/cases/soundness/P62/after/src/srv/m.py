from typing import NamedTuple


def g(x):
    return x + 1


class R(NamedTuple):
    x: int
    y: int


def f(a):
    x = g(a)
    y = g(x)
    r = R(x=x, y=y)
    return r.x * r.y
