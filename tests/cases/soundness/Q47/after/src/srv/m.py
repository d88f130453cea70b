class Helper:
    def __init__(self, size):
        self.size = size
    def go(self):
        return self.size
class Runner:
    def __init__(self):
        self.size = 4
        s = self.size
        self.h = Helper(s)
        self.size = 5
