class K:
    a = 0
