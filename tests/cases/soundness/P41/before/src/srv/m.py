class K:
    def __init__(self):
        self.ok = False
        self.b = 2

    def start(self):
        self.a = 1

    def f(self):
        if self.ok:
            print(self.a)
        print(self.b)
