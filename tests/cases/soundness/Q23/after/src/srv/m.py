class A:
    x = 0
    def f(self, n, d):
        y = n / d
        self.x = 1
        return y
