from srv.planner import Planner


class Runner:
    def __init__(self):
        self.planner = Planner(self)

    def on_done(self, n):
        return f"done {n}"

    def finish(self, n):
        return self.planner.finish(n)
