from functools import lru_cache


@lru_cache(maxsize=None)
def table(n):
    return [k * k for k in range(n)]


def run():
    return table(3)
