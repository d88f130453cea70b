from srv import m


def set_limit(n):
    m.LIMIT = n
