def run(x, y):
    y = x * 2
    z = y
    return z + y
