def f(a, g):
    x = 0
    t = 5
    y = a and (t := g())
    x = t
    return x, y
