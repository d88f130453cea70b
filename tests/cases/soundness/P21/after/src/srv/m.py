from typing import NamedTuple


def g(x):
    return x + 1


class R(NamedTuple):
    x: int
    y: int


def f(a):
    x = g(a)
    y = [3]
    r = R(x, *y)
    return r.x * r.y
