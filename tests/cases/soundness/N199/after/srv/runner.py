def run(n):
    return n * 2
