def f(a, b):
    t = b.x
    a.x = 1
    return t
