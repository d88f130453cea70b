def run(n):
    size = n * 2
    return size
