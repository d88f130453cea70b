class Runner:
    def __init__(self):
        self.out = []

    def run(self, ready):
        if ready:
            self.out.append("run")
        self.out.append("report")
