class Runner:
    def __init__(self):
        self.out = []

    def setup(self, eager):
        if eager:
            self.out.append("eager")
            self.out.append("warm")
            self.out.append("load")
