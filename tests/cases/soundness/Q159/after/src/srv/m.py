class Board:
    def setup(self, n):
        self.low, self.high = _bounds(n)
        return self


def _bounds(n):
    low = n - 1
    high = n + 1
    return low, high
