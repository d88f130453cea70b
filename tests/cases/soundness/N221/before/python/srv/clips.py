from srv import limits


def room(n):
    return limits.MAX - n
