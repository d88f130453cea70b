class Board:
    def __init__(self, x, by):
        self.x = x
        self.by = by


def one(x):
    return Board(x, 1)
