class Runner:
    def __init__(self):
        self.step = 1
        self.hook = None

    def bump(self):
        self.step += 1

    def label(self):
        self.hook()
        return f"step {self.step}"
