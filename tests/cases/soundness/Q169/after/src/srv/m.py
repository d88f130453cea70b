from math import ceil as floor, floor as ceil


def run(x):
    return floor(x), ceil(x)
