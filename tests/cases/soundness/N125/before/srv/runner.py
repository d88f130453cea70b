def sign():
    return (-1) ** 2


def share(a, b, c):
    return a - (b - c)
