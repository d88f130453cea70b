def f(a, b=0):
    return a - b
