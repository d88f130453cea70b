class Helper:
    def __init__(self, size):
        self.size = size
    def go(self):
        return self.size
class Runner:
    def __init__(self, n):
        self.size = n
        self.h = Helper(n)
    def step(self):
        self.size += 1
