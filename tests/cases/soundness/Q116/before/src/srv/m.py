from srv.meta import numbered


@numbered
class Board:
    def first(self):
        return 1

    def second(self):
        return 2
