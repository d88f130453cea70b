BOARDS = []


def poke():
    for board in BOARDS:
        board.count += 1


class Board:
    def __init__(self):
        self.count = 0
        BOARDS.append(self)

    def run(self):
        return self._text(self.count)

    def _text(self, count):
        poke()
        return f"count {count}"
