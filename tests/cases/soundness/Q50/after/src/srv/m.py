LEVEL = 1


def bump():
    global LEVEL
    LEVEL += 1
    return LEVEL


def run(out):
    second = _second()
    first = bump()
    out.append(first)
    out.append(second)


def _second():
    return f"level {LEVEL}"
