def run(board, meter):
    count = board.count
    meter.poke()
    return f"count {count}"


class Meter:
    def __init__(self, board):
        self.board = board

    def poke(self):
        self.board.count += 1


class Board:
    count = 0
