class Runner:
    def __init__(self, n):
        self.plan = n

    def run(self):
        steps = self.plan * 2
        return steps + 1
