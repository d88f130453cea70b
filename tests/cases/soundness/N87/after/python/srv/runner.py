class Runner:
    def __init__(self):
        self.steps_done = 0

    def step(self):
        self.steps_done += 1
