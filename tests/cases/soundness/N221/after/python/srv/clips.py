from srv import limits


def room(n):
    return limits.MAX - n


def clip(n):
    return min(n, limits.MAX)
