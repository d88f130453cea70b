class Runner:
    def __init__(self, n):
        self.plan = n

    def run(self):
        return self.plan()

    def plan(self):
        steps = self.plan * 2
        return steps + 1
