class Board:
    def __init__(self):
        self.rows = []
        self.open = True

    def add(self, row):
        if not self.open:
            return False
        self._put(row)
        return True

    def _put(self, row):
        self.rows.append(row)
        if len(self.rows) > 1:
            self.open = False
