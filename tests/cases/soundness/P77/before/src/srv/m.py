class K:
    def __init__(self):
        self.size = 1

    def f(self):
        return self.size + self.size * 2


def g(**given):
    return sorted(given)


def h():
    return g(size=1)
