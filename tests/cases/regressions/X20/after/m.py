LIMIT = 10


def take(xs, n=None):
    n = n or LIMIT
    return xs[:n]
