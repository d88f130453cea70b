class Runner:
    def __init__(self, n):
        self.n = n


class Draft(Runner):
    pass
