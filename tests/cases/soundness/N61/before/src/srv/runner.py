class Runner:
    def __init__(self):
        self.out = []

    def run(self, steps):
        for step in steps:
            if step == 0:
                continue
            self.out.append(step * 2)
