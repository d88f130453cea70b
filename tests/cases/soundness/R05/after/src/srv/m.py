def go(a, d):
    d(a)
    return {**a}
