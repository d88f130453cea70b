def scale(n):
    n *= 2
    return n + 1


def run(n):
    return scale(n)


def scale(n):
    return n * 100
