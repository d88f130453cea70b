class K:
    def __init__(self):
        self.ok = False
        self.b = 2

    def start(self):
        self.a = 1

    def f(self, xs):
        return h(xs, a=self.a)


def h(xs, *, a):
    return [a for x in xs]
