class A:
    x = 0
    def f(self, n):
        self.x = 1
        assert n
        return n
