def go(a, d):
    x = {a: 1, 3: 2}
    d(a)
    return x
