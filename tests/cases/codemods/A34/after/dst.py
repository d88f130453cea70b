def used():
    return 3


def g():
    return 2


def f():
    return 1
