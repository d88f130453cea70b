def f(c, g, h):
    a = 0
    with c:
        a = g()
        h()
    return a
