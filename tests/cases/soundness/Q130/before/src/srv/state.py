LEVEL = 1


def bump():
    global LEVEL
    LEVEL += 1


def show(mark):
    text = f"level {LEVEL}{mark}"
    return text
