class A:
    n = 0
    def g(self):
        A.n += 1
    def f(self):
        t = A.n
        self.g()
        return t
