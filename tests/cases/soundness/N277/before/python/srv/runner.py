scale = 3


def scaled(n):
    return n * scale


def run(n):
    return scaled(n)
