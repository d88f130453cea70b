from srv.meta import Meta


class Board(metaclass=Meta):
    def first(self):
        return 1

    def second(self):
        return 2
