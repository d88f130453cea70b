from srv.choice import best
from srv.text import shorten


def pick(names):
    return best(names)
