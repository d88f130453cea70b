class Planner:
    def __init__(self, *, get_step):
        self.get_step = get_step

    def plan(self, n):
        return n * self.get_step()
