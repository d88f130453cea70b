def run(x):
    more = x + 1
    return more * 2
