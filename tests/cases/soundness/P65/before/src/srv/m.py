class K:
    def __init__(self):
        self.v = 1

    def __call__(self):
        self.v += 1

    def f(self):
        self()
        return self.v
