class A:
    k = 1
    def f(self, n):
        return f(n, self.k)

def f(n, k):
    k += 1
    if n == 0:
        return k
    return f(n - 1, k)
