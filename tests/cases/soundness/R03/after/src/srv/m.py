def go(a, d):
    d(a)
    return [y for y in a]
