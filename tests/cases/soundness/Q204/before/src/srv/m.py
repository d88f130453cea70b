def run(x):
    a = b = x
    return a, b
