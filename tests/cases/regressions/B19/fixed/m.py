TABLE = [("m", "rotate")]


def rotate(x):
    return x[1:] + x[:1]
