def limit():
    return 1


def set_limit(n):
    globals()['limit'] = lambda: n


def run(n):
    set_limit(n)
    return limit()
