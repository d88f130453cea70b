class Planner:
    def __init__(self, size):
        self.size = size

    def plan(self, n):
        steps = n * self.size
        return steps + 1
