def clip(n):
    from .limits import MAX

    return min(n, MAX)


def run(n):
    return clip(n)
