def f(a, c=0, b=0):
    return a - b
