def twice(g):
    return lambda *a: g(*a) * 2


def f(a):
    return a + 1
