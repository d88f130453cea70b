from typing import NamedTuple


def g(x):
    return x + 1


class R(NamedTuple):
    x: int
    y: int


def f(a):
    x = g(a)
    r = R(x, y=g(x), x=x)
    return r.x * r.y
