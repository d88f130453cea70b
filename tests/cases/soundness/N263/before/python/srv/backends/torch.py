def run(n):
    return n
