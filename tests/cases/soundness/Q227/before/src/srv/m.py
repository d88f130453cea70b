LIMIT = 1


def set_limit(n):
    globals()['OTHER'] = n


def run(n):
    set_limit(n)
    return f'{LIMIT}'
