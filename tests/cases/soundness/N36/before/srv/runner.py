class Runner:
    def __init__(self, size):
        self.size = size

    def plan(self):
        return self.width() + 1

    def width(self):
        return self.size
