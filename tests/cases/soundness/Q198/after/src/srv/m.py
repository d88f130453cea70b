class Board:
    def __init__(self):
        self.rows = []

    def add(self, x):
        self.rows.append(x)
        return len(self.rows)
