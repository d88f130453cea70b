from srv.meta import Base


class Board(Base):
    def second(self):
        return 2

    def first(self):
        return 1
