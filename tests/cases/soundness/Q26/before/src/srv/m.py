class A:
    x = 0
    def f(self, n):
        self.x = 1
        p, q = n
        return p, q
