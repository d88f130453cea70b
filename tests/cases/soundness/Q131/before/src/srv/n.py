from srv import state


def show(mark):
    text = f"level {state.LEVEL}{mark}"
    return text
