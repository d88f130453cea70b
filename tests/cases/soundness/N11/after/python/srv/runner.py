from srv.registry import NAMES
from srv.choice import best


def pick():
    return best(NAMES)
