from srv.planner import Planner


class Runner:
    def __init__(self, size):
        self.planner = Planner(size)

    def plan(self, n):
        return self.planner.plan(n)
