LEVEL = 1


def bump():
    global LEVEL
    LEVEL += 1
    return LEVEL


def show(level, other):
    return f"{level} {other}"


def run():
    first = bump()
    return show(LEVEL, first)
