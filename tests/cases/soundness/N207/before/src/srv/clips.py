from .limits import MAX


def clip(n):
    return min(n, MAX)
