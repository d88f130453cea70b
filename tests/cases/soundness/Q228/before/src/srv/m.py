LIMIT = 1


for _key in ('A', 'B'):
    globals()[_key] = 1


def set_limit(n):
    return n


def run(n):
    set_limit(n)
    return f'{LIMIT}'
