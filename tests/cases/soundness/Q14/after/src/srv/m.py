def f(a, g):
    t = 5
    y = [(t := g()) for i in a]
    x = t
    return x, y
