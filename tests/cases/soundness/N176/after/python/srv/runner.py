class Runner:
    steps = 0

    def run(self):
        self._advance()
        self._advance()

    def _advance(self):
        self.steps += 1
        self.last = self.steps
