def low(n):
    return n + 1


def high(n):
    return n - 1
