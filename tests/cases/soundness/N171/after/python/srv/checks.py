class Full(Exception):
    pass


def check(n):
    if n < 0:
        raise Full(n)
