def f(g, h):
    a = 0
    try:
        a = g()
        h()
    except ValueError:
        return a
    return a + 1
