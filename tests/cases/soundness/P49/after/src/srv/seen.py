_seen = ([],)


def remember(key):
    _seen[0].append(key)
