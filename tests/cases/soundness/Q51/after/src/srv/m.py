from srv import state


def bump():
    state.LEVEL += 1
    return state.LEVEL


def run():
    level = state.LEVEL
    first = bump()
    return f"{level} {first}"
