from srv.meta import traced


@traced
class Board:
    def run(self, value):
        return self._total(value)

    def _total(self, value):
        total = value + 1
        total *= 2
        return total
