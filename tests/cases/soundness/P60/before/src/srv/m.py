from functools import cache

from srv.tick import tick


def f():
    return tick()
