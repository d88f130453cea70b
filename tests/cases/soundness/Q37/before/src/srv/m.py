class A:
    def bump(self):
        self.x += 1
    def f(self, v):
        self.x = v
        self.bump()
        return self.x
