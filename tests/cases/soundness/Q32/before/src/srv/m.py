def f(a, b):
    a.x = 1
    return b.x
