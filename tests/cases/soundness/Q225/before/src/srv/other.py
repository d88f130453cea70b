from srv import m


def set_limit(n):
    vars(m)['LIMIT'] = n
