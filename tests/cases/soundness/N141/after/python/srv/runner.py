def run(n):
    return n + 1
