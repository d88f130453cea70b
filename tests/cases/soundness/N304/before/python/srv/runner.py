class Runner:
    def __init__(self):
        self.ready = True
        self.out = []

    def run(self):
        if self.ready:
            self.ready = False
            self.out.append("first")
            self.out.append("second")
