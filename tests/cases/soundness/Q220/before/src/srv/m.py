LIMIT = 1


def set_limit(n):
    exec(f'global LIMIT; LIMIT = {n}')


def run(n):
    set_limit(n)
    return f'{LIMIT}'
