LOG = []


class A:
    def __init__(self):
        LOG.append("make")
        self.k = 1

    def f(self, x):
        return self.k + x


def arg():
    LOG.append("arg")
    return 2


_a = A()
OUT = _a.f(arg())
