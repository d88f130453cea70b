class Odd:
    def __init__(self, x, y):
        self.x, self.y = x, -y


def g(x):
    return x + 1


class R(Odd):
    x: int
    y: int


def f(a):
    x = g(a)
    y = g(x)
    r = R(x=x, y=y)
    return r.x * r.y
