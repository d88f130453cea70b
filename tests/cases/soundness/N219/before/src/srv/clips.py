from srv.limits import MAX


def room(n):
    return MAX - n
