class Runner:
    def setup(self, n):
        self.size = n
        self.size += 3
        self.size *= 2
