from functools import cache

from srv.tick import tick


@cache
def h():
    return tick()


def f():
    return h()
