def f(a, b, g):
    g(a)
    return a or b
