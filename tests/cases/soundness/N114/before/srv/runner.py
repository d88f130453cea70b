def getter(rank):
    return lambda: rank


def getters(n):
    return [getter(rank) for rank in range(n)]
