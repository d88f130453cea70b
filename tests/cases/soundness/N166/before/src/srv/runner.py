def run(n):
    n *= 2
    return n + 1


def scale(n):
    return n * 100
