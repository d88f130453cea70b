def run(x):
    try:
        z = _calc(x)
    except ZeroDivisionError:
        return 'zero'
    return z


def _calc(x):
    try:
        y = 1 / x
        return y + int('a' if x == 2 else '1')
    except ValueError:
        return 0
