class Pool:
    def __init__(self):
        self.used = 0

    def take(self):
        self.used += 1
        return self.used

    def warm(self):
        slot = self.take()
        return "warm"
