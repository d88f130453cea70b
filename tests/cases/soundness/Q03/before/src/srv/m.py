class A:
    k = 1
    def f(self, n):
        k = self.k
        k += 1
        if n == 0:
            return k
        return self.f(n - 1)
