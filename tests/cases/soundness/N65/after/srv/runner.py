class Runner:
    def setup(self, n):
        self.size = n
        self._grow()

    def _grow(self):
        self.size *= 2
        self.size += 3
