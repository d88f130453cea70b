class Runner:
    def __init__(self):
        self.step = 0

    def steps(self, n):
        for k in range(n):
            yield self.step + k
