def f(a, g, h):
    t = [a]
    g(t)
    return h(t)
