LEVEL = 1


def bump():
    global LEVEL
    LEVEL += 1
    return LEVEL


def run():
    return _text(LEVEL, bump())


def _text(level, first):
    return f"{level} {first}"
