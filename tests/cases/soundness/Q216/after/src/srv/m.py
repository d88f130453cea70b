LIMIT = 1


def set_limit(n):
    for key in ('LIM' + 'IT', 'OTHER'):
        globals()[key] = n


def run(n):
    limit = LIMIT
    set_limit(n)
    return f'{limit}'
