class Runner:
    def __init__(self):
        self.step = 0

    def steps(self, n):
        return steps(n, step=self.step)


def steps(n, *, step):
    for k in range(n):
        yield step + k
