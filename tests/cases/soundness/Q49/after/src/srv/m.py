LEVEL = 1


def bump():
    global LEVEL
    LEVEL += 1
    return LEVEL


def show(level, other):
    return f"{level} {other}"


def run():
    level = LEVEL
    first = bump()
    return show(level, first)
