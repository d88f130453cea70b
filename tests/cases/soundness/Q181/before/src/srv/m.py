def _old(x):
    return x


def run(x):
    return x + 1
