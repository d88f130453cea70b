class A:
    x = 0
    def f(self, n):
        assert n
        self.x = 1
        return n
