def run(x):
    try:
        z = _calc(x)
    except ZeroDivisionError:
        return 'zero'
    return z


def _calc(x):
    y = 1 / x
    z = y + 1
    return z
