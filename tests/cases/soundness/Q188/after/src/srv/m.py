size = 7


def run(n):
    size = n * 2
    return size + size
