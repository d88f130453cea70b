class Meter:
    def __init__(self, board):
        self.board = board

    def show(self):
        return f"count {self.board.count}"


class Board:
    def __init__(self):
        self.count = 0
        self.meter = Meter(self)

    def run(self, value):
        shown = self.meter.show()
        self.count = value
        return shown
