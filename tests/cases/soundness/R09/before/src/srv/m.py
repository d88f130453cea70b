
def log(x, y):
    print(x, y)


def show(k):
    print(k.a + k.b + k.c + k.d)


class K:
    def __init__(self, a, b, c, d):
        self.a = a
        self.b = b
        self.c = c
        self.d = d
        show(self)

    def f(self):
        return self.a + self.b + self.c + self.d
