def f(a, b, g):
    t = a or b
    g(a)
    return t
