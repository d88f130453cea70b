from srv.steps import advance


class Runner:
    def __init__(self):
        self.step = 0

    def advance(self, by):
        self.step = advance(by, step=self.step)
