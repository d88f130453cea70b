class Runner:
    def __init__(self):
        self.pages = 0
        self.log = []

    def report(self):
        self.log.append(self.pages)

    def setup(self):
        self.pages = 16
        self.report()
