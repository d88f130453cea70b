LIMIT = 1


def set_limit(n):
    return globals()['LIMIT'] + globals().get('OTHER', 0)


def run(n):
    set_limit(n)
    return f'{LIMIT}'
