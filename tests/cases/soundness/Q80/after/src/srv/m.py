from srv.base import Base


class Board(Base):
    def run(self, value):
        count = self.count
        self.level = value
        return f"{self.level} {count}"
