class K:
    def __init__(self):
        self.ok = False
        self.b = 2

    def start(self):
        self.a = 1

    def f(self, xs):
        for x in xs:
            print(x, self.a)
