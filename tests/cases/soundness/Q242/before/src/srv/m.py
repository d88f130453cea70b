def fill(fields):
    fields['count'] = 7


def poke(board):
    fill(vars(board))


class Board:
    def __init__(self):
        self.count = 0

    def run(self):
        poke(self)
        return f'{self.count}'
