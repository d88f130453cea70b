def used():
    return 3


def last():
    return 2


def f():
    return 1