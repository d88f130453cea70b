from srv.planner import Planner


class Runner:
    def __init__(self, size):
        self.size = size
        self.planner = Planner(self)

    def plan(self, n):
        return self.planner.plan(n)
