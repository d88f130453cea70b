def h(a):
    return a


def f(x, y):
    return h(x, b=y)
