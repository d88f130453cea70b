def g(k):
    k.v += 1


class K:
    def __init__(self):
        self.v = 1

    def f(self):
        return h(self, v=self.v)


def h(k, *, v):
    g(k=k)
    return v
