from srv.runner import tag


def name_of(n):
    return tag(n)
