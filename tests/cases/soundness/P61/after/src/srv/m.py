def h(a):
    return a


def f(x):
    return h(x, a=x)
