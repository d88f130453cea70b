import sys

LIMIT = 1


def set_limit(n):
    this = sys.modules[__name__]
    setattr(this, 'LIMIT', n)


def run(n):
    limit = LIMIT
    set_limit(n)
    return f'{limit}'
