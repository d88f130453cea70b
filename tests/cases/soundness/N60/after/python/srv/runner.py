class Runner:
    def run(self, steps):
        total = 0
        names = []
        self._collect(steps, total, names)
        return total, names

    def _collect(self, steps, total, names):
        for step in steps:
            total += step
            names.append(str(step))
