def f(a, b):
    a.x = 1
    t = b.x
    return t
