from srv.backends import best
from srv.registry import NAMES


def pick():
    return best(NAMES)
