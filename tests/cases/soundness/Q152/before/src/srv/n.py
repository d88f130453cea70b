def double(x):
    return x * 5
