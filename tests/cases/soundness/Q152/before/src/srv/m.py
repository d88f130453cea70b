def double(x):
    return x * 2


def run(x):
    return double(x) + 1
