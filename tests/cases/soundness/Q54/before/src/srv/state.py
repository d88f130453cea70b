LEVEL = 1


def bump(by):
    global LEVEL
    LEVEL += by
    return by
