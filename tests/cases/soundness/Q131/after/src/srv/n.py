from srv.state import LEVEL


def show(mark):
    text = f"level {LEVEL}{mark}"
    return text
