class K:
    n = 1


def go():
    return take(K.n)


def take(n):
    K.n = 5
    return n + 1
