from srv.planner import Planner


class Runner:
    def __init__(self):
        self.step = 0
        self.planner = Planner(step=self.step)

    def advance(self):
        self.step += 1

    def plan(self, n):
        return self.planner.plan(n)
