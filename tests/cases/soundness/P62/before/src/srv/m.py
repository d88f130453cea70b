from typing import NamedTuple


def g(x):
    return x + 1


def f(a):
    x = g(a)
    y = g(x)
    return x * y
