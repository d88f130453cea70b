MAX_BATCH = 8


def clip(n):
    return min(n, MAX_BATCH)
