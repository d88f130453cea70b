def g(k):
    k.v += 1


class K:
    def __init__(self):
        self.v = 1

    def f(self):
        g(k=self)
        return self.v
