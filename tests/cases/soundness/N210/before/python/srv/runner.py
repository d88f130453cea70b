SIZE = 3


def chunks(text):
    for start in range(0, len(text), SIZE):
        yield text[start : start + SIZE]


def noop():
    return None
