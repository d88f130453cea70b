def f(g, h):
    a = 0
    try:
        t = g()
        h()
        a = t
    except ValueError:
        return a
    return a + 1
