from srv.limits import clip


class Runner:
    def __init__(self, waiting):
        self.waiting = waiting

    def batch(self):
        return clip(self.waiting)
