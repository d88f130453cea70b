from srv.planner import Planner


class Runner:
    def __init__(self):
        self.planner = Planner(on_done=lambda n: self.on_done(n))

    def on_done(self, n):
        return f"done {n}"

    def finish(self, n):
        return self.planner.finish(n)
