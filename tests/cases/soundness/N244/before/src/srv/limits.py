MAX = 8
MIN = 1


def clip(n):
    return max(MIN, min(n, MAX))
