class Runner:
    def __init__(self):
        self.out = []

    def run(self, ready):
        if not ready:
            return
        self.out.append("run")
        self.out.append("report")
