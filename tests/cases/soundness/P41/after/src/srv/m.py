class K:
    def __init__(self):
        self.ok = False
        self.b = 2

    def start(self):
        self.a = 1

    def f(self):
        h(ok=self.ok, a=self.a)
        i(a=self.b)


def h(*, ok, a):
    if ok:
        print(a)


def i(*, a):
    print(a)
