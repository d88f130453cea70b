class A:
    def __init__(self):
        self.o = 0
    @property
    def p(self):
        self.o += 1
        return self.o
def f(x, g):
    a = x.p
    g(a)
    return a
