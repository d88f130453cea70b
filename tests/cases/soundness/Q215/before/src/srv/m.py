LIMIT = 1


def set_limit(n):
    globals().update(LIMIT=n)


def run(n):
    set_limit(n)
    return f'{LIMIT}'
