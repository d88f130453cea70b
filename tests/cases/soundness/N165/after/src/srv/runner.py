class Runner:
    def run(self, n):
        return self._prepare(n)

    def _prepare(self, n):
        steps = n * 2
        steps += 1
        return steps
