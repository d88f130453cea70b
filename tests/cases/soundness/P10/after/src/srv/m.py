def h(**x):
    return x


def f(x):
    return h(x=x)
