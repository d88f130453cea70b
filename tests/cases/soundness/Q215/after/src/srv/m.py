LIMIT = 1


def set_limit(n):
    globals().update(LIMIT=n)


def run(n):
    limit = LIMIT
    set_limit(n)
    return f'{limit}'
