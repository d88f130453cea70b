def poke(board, name):
    setattr(board, name, 7)


class Board:
    def __init__(self):
        self.count = 0

    def run(self):
        count = self.count
        poke(self, 'count')
        return f'{count}'
