class Runner:
    def __init__(self, size):
        self.size = size

    def slots(self, used, spare=2):
        return self.size - used + spare
