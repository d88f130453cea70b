LEVEL = 1


def bump():
    global LEVEL
    LEVEL += 1
    return LEVEL


def run():
    bumped = bump()
    return LEVEL, bumped
