def poke(board):
    object.__setattr__(board, 'count', 7)


class Board:
    def __init__(self):
        self.count = 0

    def run(self):
        count = self.count
        poke(self)
        return f'{count}'
