def _fmt(x, pad=2):
    return str(x).rjust(pad)


def _show(x):
    return _fmt(x)


def run(x):
    return _show(x)
