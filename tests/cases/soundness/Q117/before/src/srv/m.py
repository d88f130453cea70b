from srv.meta import commands


class Board:
    def first(self):
        return 1

    def second(self):
        return 2


def order():
    return commands(Board)
