from math import ceil, floor


def run(x):
    return floor(x), ceil(x)
