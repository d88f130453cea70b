def f(c, g, h):
    a = 0
    with c:
        t = g()
        h()
        a = t
    return a
