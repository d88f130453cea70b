class Board:
    def __init__(self):
        self.n = 0

    def run(self):
        return self.n, (yield 1)
