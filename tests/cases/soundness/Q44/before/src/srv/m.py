class A:
    n = 0
    def __iter__(self):
        self.n += 1
        return iter([1])
def f(a):
    for x in a:
        return a.n
