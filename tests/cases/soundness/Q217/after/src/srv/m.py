LIMIT = 1


SPACE = globals()


def set_limit(n):
    SPACE['LIMIT'] = n


def run(n):
    limit = LIMIT
    set_limit(n)
    return f'{limit}'
