def poke(board):
    board.__dict__ = {'count': 7}


class Board:
    def __init__(self):
        self.count = 0

    def run(self):
        poke(self)
        return f'{self.count}'
