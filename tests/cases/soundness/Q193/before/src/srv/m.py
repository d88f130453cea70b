class Helper:
    def __init__(self, runner):
        self.runner = runner

    def go(self):
        return self.runner.size + 1


class Runner:
    def __init__(self):
        self.size = 4
        self.helper = Helper(self)

    def grow(self):
        self.size += 1
