log = print


def g(a):
    return a


def i(a):
    return -a


def f(a):
    log(a)
    x = g(a)
    y = i(a)
    return x - y
