class Runner:
    def __init__(self):
        self.out = []

    def run(self, steps):
        for step in steps:
            self._run_step(step)

    def _run_step(self, step):
        if step == 0:
            return
        self.out.append(step * 2)
