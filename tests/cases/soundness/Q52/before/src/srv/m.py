from srv import state


def bump():
    state.LEVEL += 1
    return state.LEVEL


def run():
    first = bump()
    return f"{state.LEVEL} {first}"
