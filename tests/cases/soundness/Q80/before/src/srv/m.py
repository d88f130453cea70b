from srv.base import Base


class Board(Base):
    def run(self, value):
        self.level = value
        return f"{self.level} {self.count}"
