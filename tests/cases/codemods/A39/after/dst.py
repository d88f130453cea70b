import sys

from m import fast


def pack(x):
    return fast(x) if fast else sys.maxsize
