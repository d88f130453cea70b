from srv.meta import Meta


class Board(metaclass=Meta):
    def run(self, value):
        return self.total(value)

    def total(self, value):
        total = value + 1
        total *= 2
        return total
