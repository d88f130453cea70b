def run(board, meter):
    meter.poke()
    return f"count {board.count}"


class Meter:
    def __init__(self, board):
        self.board = board

    def poke(self):
        self.board.count += 1


class Board:
    count = 0
