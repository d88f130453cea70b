import math


def run(x, math_=None):
    return math.floor(x), math_
