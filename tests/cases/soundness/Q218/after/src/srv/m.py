import sys

LIMIT = 1


def set_limit(n):
    sys.modules[__name__].LIMIT = n


def run(n):
    limit = LIMIT
    set_limit(n)
    return f'{limit}'
