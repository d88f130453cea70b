from srv.n import add

SEEN = []


def count():
    return len(SEEN)
