class K:
    n = 1


def go():
    K.n = 5
    return K.n + 1
