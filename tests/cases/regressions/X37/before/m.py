class Runner:
    steps = 0

    def step(self):
        self.steps = self.steps + 1
        return self.steps
