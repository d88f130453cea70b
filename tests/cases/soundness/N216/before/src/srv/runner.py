def run(n):
    return walk(n=n) + 1


def walk(n):
    return n * 2
