def clip(n, cap=8):
    return min(n, cap)
