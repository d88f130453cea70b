class A:
    x = 0
    def f(self, n):
        p, q = n
        self.x = 1
        return p, q
