class K:
    def __init__(self):
        self.ok = False
        self.b = 2

    def start(self):
        self.a = 1

    def f(self):
        return h(ok=self.ok, a=self.a)


def h(*, ok, a):
    return ok and a
