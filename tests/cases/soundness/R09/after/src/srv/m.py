
from typing import NamedTuple


class P(NamedTuple):
    a: int
    b: int
    c: int
    d: int



def log(x, y):
    print(x, y)


def show(k):
    print(k.p.a + k.p.b + k.p.c + k.p.d)


class K:
    def __init__(self, a, b, c, d):
        show(self)
        self.p = P(a=a, b=b, c=c, d=d)

    def f(self):
        return self.p.a + self.p.b + self.p.c + self.p.d
