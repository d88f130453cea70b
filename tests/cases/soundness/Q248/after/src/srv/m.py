class Meter:
    def __init__(self, board):
        self.board = board

    def poke(self):
        self.deep()

    def deep(self):
        hub().hit(self)


class Hub:
    def __init__(self):
        self.seen = 0

    def hit(self, meter):
        meter.board.count += 1

    def look(self, meter):
        self.seen += meter.board.count


HUB = Hub()


def hub():
    return HUB


class Board:
    def __init__(self):
        self.count = 0
        self.meter = Meter(self)

    def run(self):
        count = self.count
        self.meter.poke()
        return f'count {count}'
