LIMIT = 10


def take(xs, n=None):
    if n is None:
        n = LIMIT
    return xs[:n]
