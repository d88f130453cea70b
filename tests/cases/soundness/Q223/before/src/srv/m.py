LIMIT = 1


def put(space, key, value):
    space[key] = value


def set_limit(n):
    put(globals(), 'LIMIT', n)


def run(n):
    set_limit(n)
    return f'{LIMIT}'
