class K:
    def __init__(self):
        self.length = 1

    def f(self):
        return self.length + self.length * 2


def g(**given):
    return sorted(given)


def h():
    return g(length=1)
