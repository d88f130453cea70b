from srv.limits import MAX


def room(n):
    return MAX - n


def clip(n):
    return min(n, MAX)
