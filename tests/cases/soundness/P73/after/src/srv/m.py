log = print


def g(a):
    return a


def i(a):
    return -a


def h(a):
    log(a)
    return g(a), g(a)


def f(a):
    x, y = h(a)
    return x - y
