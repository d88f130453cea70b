def _check(n):
    assert isinstance(n, int), "n"
    assert n >= 0, "n"


def mask(n):
    _check(n)
    return n
