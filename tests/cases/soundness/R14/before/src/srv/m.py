def f(a, b):
    x = a
    return lambda: (x, eval(b))
