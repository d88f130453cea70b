from srv.quotas import MAX


def room(n):
    return MAX - n


def clip(n):
    return min(n, MAX)
