from srv.seen import remember

_seen = set()


def add(key):
    remember(key)


def count():
    return len(_seen)
