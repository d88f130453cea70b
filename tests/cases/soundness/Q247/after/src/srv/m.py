class Board:
    def __init__(self):
        self.n = 0

    def run(self):
        b = yield 1
        return self.n, b
