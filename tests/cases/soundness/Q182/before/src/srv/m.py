def run(x):
    y = x + 1
    return y
