log = print


def g(a):
    return a, 1


def f(a):
    log(a)
    x, y = g(a)
    return x - y
