from functools import reduce


def scale(x, by):
    return x - by


def one(x):
    return scale(x, 1)


def many(xs):
    return reduce(scale, xs)
