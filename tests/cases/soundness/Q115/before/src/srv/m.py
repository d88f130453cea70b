from srv.meta import Base


class Board(Base):
    def first(self):
        return 1

    def second(self):
        return 2
