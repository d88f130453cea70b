from srv.meta import traced


@traced
class Board:
    def run(self, value):
        total = value + 1
        total *= 2
        return total
