def f(a, g):
    x = 0
    y = a and (x := g())
    return x, y
