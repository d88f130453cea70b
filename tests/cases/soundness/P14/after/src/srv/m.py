def h(a, b):
    return a


def f(x, y):
    return h(x)
