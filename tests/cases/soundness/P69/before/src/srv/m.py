class K:
    def __init__(self):
        self.v = 5

    def h(self, x):
        if x:
            return 3
        self.v = 1
        return 2

    def f(self, p):
        self.v = 0
        print(self.h(p))
        return self.v
