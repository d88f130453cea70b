class Runner:
    def __init__(self):
        self.steps_done = 0

    def step(self):
        self.steps_done += 1

    def label(self):
        return f"{self.steps_done:>{self.steps_done + 2}}"
