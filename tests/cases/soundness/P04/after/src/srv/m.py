def h(a):
    for x in a:
        yield x


def f(a):
    h(a)
