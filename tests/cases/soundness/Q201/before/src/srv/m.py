class Board:
    def __init__(self, size):
        self.size = size

    def run(self):
        return f'{self.size} {self.size}'
