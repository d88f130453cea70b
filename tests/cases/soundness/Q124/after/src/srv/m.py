from functools import reduce


def scale(by, x):
    return x - by


def one(x):
    return scale(1, x)


def many(xs):
    return reduce(scale, xs)
