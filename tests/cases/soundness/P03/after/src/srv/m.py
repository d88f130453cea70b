def twice(g):
    return lambda *a: g(*a) * 2


@twice
def h(a):
    return a + 1


def f(a):
    return h(a)
