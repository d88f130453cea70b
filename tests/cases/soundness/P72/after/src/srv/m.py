log = print


def g(a):
    return a, 1


def h(a):
    log(a)
    return g(a)


def f(a):
    x, y = h(a)
    return x - y
