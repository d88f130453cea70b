class Trainer:
    def __init__(self):
        self.step_count = 0
        self.loss = 0.5

    def advance(self):
        self.step_count += 1
