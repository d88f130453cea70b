class Runner:
    def __init__(self):
        self.cnt = 0

    def step(self):
        self.cnt += 1
