def f(a, g):
    x = 0
    y = [(x := g()) for i in a]
    return x, y
