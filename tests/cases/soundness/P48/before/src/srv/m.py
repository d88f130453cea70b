_seen = []


def remember(key):
    _seen.append(key)


def add(key):
    remember(key)


def count():
    return len(_seen)
