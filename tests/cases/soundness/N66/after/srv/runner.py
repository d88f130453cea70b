class Runner:
    def run(self, steps, eager):
        steps = self._ordered(steps, eager)
        return steps

    def _ordered(self, steps, eager):
        if eager:
            steps = list(reversed(steps))
        return steps
