class Board:
    def setup(self, n):
        self.low = n - 1
        self.high = self.low + 5
        return self
