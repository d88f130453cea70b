def _fmt(x, pad=2):
    return str(x).rjust(pad)


def _show(x):
    return _fmt(x, 5)


def run(x):
    return _show(x)
