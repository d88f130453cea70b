class A:
    def bump(self):
        self.x += 1
    def f(self, v):
        t = [v]
        self.x = t
        self.bump()
        return t
