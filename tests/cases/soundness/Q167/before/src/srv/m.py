def _twice(x):
    y = x * 2
    return y


def run(x, y):
    z = _twice(x)
    return z + y
