from srv import other

LIMIT = 1


def set_limit(n):
    other.set_limit(n)


def run(n):
    set_limit(n)
    return f'{LIMIT}'
