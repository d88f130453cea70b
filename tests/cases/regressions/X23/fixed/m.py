import functools

LOADS = []


def _load(n):
    LOADS.append(n)
    return tuple(range(n))


@functools.lru_cache(maxsize=None)
def table(n):
    return _load(n)


def pick(n, i):
    return table(n)[i]
