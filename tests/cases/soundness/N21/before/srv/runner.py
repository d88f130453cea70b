_step = 0


def advance():
    global _step
    _step += 1


def run():
    advance()
    advance()
    return _step
