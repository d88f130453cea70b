FLOOR = 1


def clip(n):
    return min(n, 4)
