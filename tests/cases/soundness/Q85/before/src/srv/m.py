class Board:
    def __init__(self):
        self.size = 3

    def run(self, value):
        return self._text(value)

    def _text(self, value):
        return f"{value} {self.size}"
