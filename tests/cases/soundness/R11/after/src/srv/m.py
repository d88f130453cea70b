class B:
    def __init__(self):
        self.v = 0

    def m(self):
        self.v = 1


def go(a, b):
    return take(b, a.v)


def take(b, v):
    b.m()
    return v
