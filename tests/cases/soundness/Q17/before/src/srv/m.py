class Helper:
    def __init__(self, runner):
        self.runner = runner
    def go(self):
        return self.runner.size
class Runner:
    def __init__(self, n):
        self.size = n
        self.h = Helper(self)
    def step(self):
        self.size += 1
