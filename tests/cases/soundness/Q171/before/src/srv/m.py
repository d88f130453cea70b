import math


def run(x):
    return math.floor(x)
