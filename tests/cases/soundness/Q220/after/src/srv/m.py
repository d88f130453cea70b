LIMIT = 1


def set_limit(n):
    exec(f'global LIMIT; LIMIT = {n}')


def run(n):
    limit = LIMIT
    set_limit(n)
    return f'{limit}'
