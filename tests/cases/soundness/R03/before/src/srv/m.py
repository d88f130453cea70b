def go(a, d):
    x = [y for y in a]
    d(a)
    return x
