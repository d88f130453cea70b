A = 1
B = 1


def f():
    return A
