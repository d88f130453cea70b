from srv.seen import count, remember


def add(key):
    remember(key)


def size():
    return count()
