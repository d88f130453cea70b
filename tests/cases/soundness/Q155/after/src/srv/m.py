class Base:
    def size(self):
        return 3


class Board(Base):
    def run(self):
        return self.size() + 1
