def run(x):
    a = x
    b = x
    return a, b
