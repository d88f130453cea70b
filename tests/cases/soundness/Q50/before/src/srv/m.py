LEVEL = 1


def bump():
    global LEVEL
    LEVEL += 1
    return LEVEL


def run(out):
    first = bump()
    out.append(first)
    second = f"level {LEVEL}"
    out.append(second)
