class Planner:
    def __init__(self, *, step):
        self.step = step

    def plan(self, n):
        return n * self.step
