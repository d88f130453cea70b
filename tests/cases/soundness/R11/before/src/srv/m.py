class B:
    def __init__(self):
        self.v = 0

    def m(self):
        self.v = 1


def go(a, b):
    b.m()
    return a.v
