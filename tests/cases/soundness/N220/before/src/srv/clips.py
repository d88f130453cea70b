from srv.quotas import MAX


def room(n):
    return MAX - n
