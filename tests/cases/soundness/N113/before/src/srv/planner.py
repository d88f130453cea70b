class Planner:
    def __init__(self, runner):
        self.runner = runner

    def finish(self):
        return self.runner.on_done()
