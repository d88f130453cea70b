class Board:
    rows = []

    def add(self, x):
        self.rows.append(x)
        return len(self.rows)
