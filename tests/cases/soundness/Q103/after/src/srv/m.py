from srv.table import add


def make():
    def advance(value):
        return value + 1

    add(advance)
