def go(a, d):
    d(a)
    return {a: 1, 3: 2}
