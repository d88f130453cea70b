_seen = []


def remember(key):
    _seen.append(key)
