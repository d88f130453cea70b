def poke(board):
    vars(board).update(other=1, more=2)


class Board:
    def __init__(self):
        self.count = 0

    def run(self):
        poke(self)
        return f'{self.count}'
