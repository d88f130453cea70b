import sys

LIMIT = 1


def set_limit(n):
    vars(sys.modules[__name__])['LIMIT'] = n


def run(n):
    set_limit(n)
    return f'{LIMIT}'
