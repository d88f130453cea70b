def run(x):
    # one more
    y = x + 1

    return y
