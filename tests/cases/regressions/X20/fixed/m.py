LIMIT = 10


def _limit(n):
    return LIMIT if n is None else n


def take(xs, n=None):
    return xs[:_limit(n)]
