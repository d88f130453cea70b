MIN = 1
MAX = 8


def clip(n):
    return max(MIN, min(n, MAX))
