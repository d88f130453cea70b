def limit():
    return 1


def set_limit(n):
    globals()['limit'] = lambda: n


def run(n):
    ask = limit
    set_limit(n)
    return ask()
