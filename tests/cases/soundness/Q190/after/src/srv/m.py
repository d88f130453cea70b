class Board:
    def _compute(self):
        return 3

    def run(self):
        return self._compute()
