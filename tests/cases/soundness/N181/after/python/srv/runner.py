class Runner:
    def __init__(self):
        self.out = []

    def run(self, steps):
        for step in steps:
            if not step:
                return
            self.out.append(step)
