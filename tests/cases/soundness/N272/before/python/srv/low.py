def bound(n):
    return n - 1
