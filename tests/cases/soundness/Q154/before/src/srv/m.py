SEEN = []


def add(x):
    SEEN.append(x)


def count():
    return len(SEEN)
