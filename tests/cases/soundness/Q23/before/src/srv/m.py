class A:
    x = 0
    def f(self, n, d):
        self.x = 1
        y = n / d
        return y
