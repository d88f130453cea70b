class Board:
    def __init__(self, size):
        self.size = size

    def run(self):
        size = self.size
        return f'{size} {size}'
