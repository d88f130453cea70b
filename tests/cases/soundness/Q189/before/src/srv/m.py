class Board:
    def _calc(self):
        return 3

    def run(self):
        return self._calc()
