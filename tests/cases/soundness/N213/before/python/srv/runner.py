class Runner:
    def __init__(self):
        self.cnt = 0

    def step(self):
        self.cnt += 1

    def label(self):
        return f"{self.cnt:>{self.cnt + 2}}"
