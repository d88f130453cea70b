class Runner:
    def __init__(self, size):
        self.size = size

    def slots(self, used):
        return self.size - used
