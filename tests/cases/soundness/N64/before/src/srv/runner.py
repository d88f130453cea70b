class Runner:
    def __init__(self):
        self.trace = []

    def __enter__(self):
        self.trace.append("lock")

    def __exit__(self, *error):
        self.trace.append("unlock")

    def step(self):
        with self:
            self.trace.append("run")
            self.trace.append("report")
