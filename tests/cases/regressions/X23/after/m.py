LOADS = []


def _load(n):
    LOADS.append(n)
    return tuple(range(n))


def table(n):
    return _load(n)


def pick(n, i):
    return table(n)[i]
