import sys

if sys.maxsize > 1:
    from json import dumps as fast
else:
    fast = None


def go(x):
    return (globals()["fast"] or str)(x)


def pack(x):
    return fast(x) if fast else sys.maxsize
