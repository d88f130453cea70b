class Session:
    def __init__(self, runner):
        self.runner = runner

    def open(self):
        return self.runner.warm_up(2)
