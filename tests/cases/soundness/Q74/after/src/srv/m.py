class Step:
    def __call__(self):
        return 1


class Counting(Step):
    def __init__(self, board):
        self.board = board

    def __call__(self):
        self.board.count += 1
        return 2


class Board:
    def __init__(self):
        self.count = 0
        self.step = Step()

    def run(self):
        count = self.count
        done = self.step()
        return f"{done} {count}"
