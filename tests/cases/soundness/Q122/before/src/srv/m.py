def scale(x, by):
    return x - by


def one(x):
    return scale(x, 1)
