class Board:
    def __init__(self):
        self.size = 3

    def run(self, value):
        return self._text(value, self.size)

    def _text(self, value, size):
        return f"{value} {size}"
