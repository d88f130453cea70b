def f(a, b):
    y = a
    return lambda: (y, eval(b))
