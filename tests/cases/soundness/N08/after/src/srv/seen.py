_seen = set()


def remember(key):
    _seen.add(key)


def count():
    return len(_seen)
