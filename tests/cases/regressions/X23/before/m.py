import functools

LOADS = []


@functools.lru_cache(maxsize=None)
def table(n):
    LOADS.append(n)
    return tuple(range(n))


def pick(n, i):
    return table(n)[i]
