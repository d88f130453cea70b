class Board:
    def __init__(self, by, x):
        self.x = x
        self.by = by


def one(x):
    return Board(1, x)
