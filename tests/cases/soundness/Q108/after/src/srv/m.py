from srv.table import add


def advance(value):
    return value + 1


add(advance)
