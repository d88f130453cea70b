_seen = set()


def remember(key):
    _seen.add(key)
