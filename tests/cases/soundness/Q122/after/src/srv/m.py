def scale(by, x):
    return x - by


def one(x):
    return scale(1, x)
