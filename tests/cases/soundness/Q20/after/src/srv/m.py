class Helper:
    def __init__(self, size, a, b):
        self.size = size
        self.a = a
        self.b = b
    def go(self):
        return self.size
class Runner:
    def __init__(self, p, q):
        self.size = 4
        self.h = Helper(self.size, b=q(), a=p())
