class K:
    def __init__(self):
        self.v = 1

    def __call__(self):
        self.v += 1

    def f(self):
        return h(self, v=self.v)


def h(k, *, v):
    k()
    return v
