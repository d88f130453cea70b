class Runner:
    def __init__(self, n):
        self.load = n
