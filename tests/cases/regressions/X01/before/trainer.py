class Trainer:
    def __init__(self):
        self.step = 0
        self.loss = 0.5

    def advance(self):
        self.step += 1
