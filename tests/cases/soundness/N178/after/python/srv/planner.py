class Planner:
    def __init__(self, *, size):
        self.size = size

    def plan(self, n):
        return n * self.size
