class K:
    def __init__(self):
        self.ok = False
        self.b = 2

    def start(self):
        self.a = 1

    def f(self):
        h(ok=self.ok, a=self.a, b=self.b)


def h(*, ok, a, b):
    if ok:
        print(a)
    print(b)
