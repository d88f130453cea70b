_step = 0


def advance():
    global _step
    _step += 1
    return _step


def run():
    advance()
    return advance()
