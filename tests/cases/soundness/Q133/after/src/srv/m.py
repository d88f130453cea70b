class Meter:
    def __init__(self, board):
        self.board = board

    def poke(self):
        self.board.count += 1


class Board:
    def __init__(self):
        self.count = 0
        self.meter = Meter(self)

    def run(self):
        count = self.count
        self.meter.poke()
        return f"count {count}"
