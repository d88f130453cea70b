class K:
    a = 0


K.a = 1
