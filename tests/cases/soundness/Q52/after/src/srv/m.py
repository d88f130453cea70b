from srv import state


def bump():
    state.LEVEL += 1
    return state.LEVEL


def run():
    return _text(state.LEVEL)


def _text(level):
    first = bump()
    return f"{level} {first}"
