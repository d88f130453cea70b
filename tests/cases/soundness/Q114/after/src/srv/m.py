from srv.meta import Meta


class Board(metaclass=Meta):
    def second(self):
        return 2

    def first(self):
        return 1
