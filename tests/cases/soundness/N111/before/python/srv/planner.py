class Planner:
    def __init__(self, runner):
        self.runner = runner

    def plan(self, n):
        return n * self.runner.step
