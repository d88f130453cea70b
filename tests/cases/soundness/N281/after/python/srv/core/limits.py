def clip(n):
    return min(n, 8)
