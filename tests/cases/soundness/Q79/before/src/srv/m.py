from srv.base import Base


class Board(Base):
    def run(self, value):
        level = value
        self.level = level
        return self
