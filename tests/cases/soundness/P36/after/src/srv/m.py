class K:
    def __init__(self):
        self.v = 1

    def m(self):
        self.v += 1

    def f(self):
        return h(self, v=self.v)


def h(k, *, v):
    k.m()
    return i(w=v)


def i(*, w):
    return w
