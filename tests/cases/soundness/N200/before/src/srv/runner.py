MAX = 8


def clip(n):
    return min(n, MAX)
