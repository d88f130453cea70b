def clip(n):
    return min(n, 8)


def сlip(n):
    return min(n, 9)
