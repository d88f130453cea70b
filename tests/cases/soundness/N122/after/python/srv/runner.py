def run(n):
    size = max(n, 1),
    return size
