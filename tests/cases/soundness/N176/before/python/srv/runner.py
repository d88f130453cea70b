class Runner:
    steps = 0

    def run(self):
        self.steps += 1
        self.last = self.steps
