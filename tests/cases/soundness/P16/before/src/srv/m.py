class Odd:
    def __init__(self, x, y):
        self.x, self.y = x, -y


def g(x):
    return x + 1


def f(a):
    x = g(a)
    y = g(x)
    return x * y
