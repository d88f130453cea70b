from srv.make import make


class Helper:
    def __init__(self, runner):
        self.runner = runner

    def go(self):
        return self.runner.size


class Runner:
    def __init__(self):
        self.size = 4
        self.helper = Helper(self)

    def another(self):
        return make(type(self.helper), self)
