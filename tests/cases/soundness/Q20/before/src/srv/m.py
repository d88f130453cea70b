class Helper:
    def __init__(self, runner, a, b):
        self.runner = runner
        self.a = a
        self.b = b
    def go(self):
        return self.runner.size
class Runner:
    def __init__(self, p, q):
        self.size = 4
        self.h = Helper(self, p(), q())
