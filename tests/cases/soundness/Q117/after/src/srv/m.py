from srv.meta import commands


class Board:
    def second(self):
        return 2

    def first(self):
        return 1


def order():
    return commands(Board)
