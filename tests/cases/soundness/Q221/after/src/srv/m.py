LIMIT = 1


def set_limit(n):
    set_limit.__globals__['LIMIT'] = n


def run(n):
    limit = LIMIT
    set_limit(n)
    return f'{limit}'
