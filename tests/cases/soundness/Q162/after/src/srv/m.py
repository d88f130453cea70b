def _fmt(x, pad=2):
    return str(x).rjust(pad)


def run(x):
    return _fmt(x)
