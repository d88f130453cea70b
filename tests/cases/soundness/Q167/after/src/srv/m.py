def run(x, y):
    z = x * 2
    return z + y
