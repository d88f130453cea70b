class Board:
    low = 0

    def setup(self, n):
        high = self.low + 5
        self.low = n - 1
        self.high = high
        return self
