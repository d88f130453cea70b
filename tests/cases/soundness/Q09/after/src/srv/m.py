def f(a, g, h):
    g([a])
    return h([a])
