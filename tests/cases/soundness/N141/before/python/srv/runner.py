def run(n):
    scale = 2
    return n + 1
