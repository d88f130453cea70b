class Board:
    def setup(self, n):
        self.low = n - 1
        self.high = n + 1
        return self
