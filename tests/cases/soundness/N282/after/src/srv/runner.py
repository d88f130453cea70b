def clip(n):
    return min(n, 8)


def run(n):
    return clip(n)
