class Runner:
    def __init__(self):
        self.out = []

    def run(self, steps):
        for step in steps:
            if step:
                self.out.append(step)
                self.last = step
