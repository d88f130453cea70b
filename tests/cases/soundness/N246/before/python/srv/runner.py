class Runner:
    def __init__(self, size):
        self.size = size

    def width(self):
        return self.size * 2
