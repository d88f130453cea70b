size = 7


def run(n):
    count = n * 2
    return count + size
