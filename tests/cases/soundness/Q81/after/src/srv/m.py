from srv.base import Base


class Board(Base):
    def run(self, value):
        other, level = _parts(value)
        self.other = other
        self.level = level


def _parts(value):
    level = value + 1
    other = value + 2
    return other, level
