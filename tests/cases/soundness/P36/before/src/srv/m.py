class K:
    def __init__(self):
        self.v = 1

    def m(self):
        self.v += 1

    def f(self):
        self.m()
        return self.v
