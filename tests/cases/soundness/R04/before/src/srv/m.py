def go(a, d):
    x = (*a,)
    d(a)
    return x
