LEVEL = 1


def bump():
    global LEVEL
    LEVEL += 1
