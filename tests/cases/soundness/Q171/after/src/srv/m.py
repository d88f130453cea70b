def run(x):
    import math

    return math.floor(x)
