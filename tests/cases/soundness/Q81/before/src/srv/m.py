from srv.base import Base


class Board(Base):
    def run(self, value):
        self.level = value + 1
        self.other = value + 2
