class A:
    n = 0
    def __enter__(self):
        self.n += 1
    def __exit__(self, *a):
        return None
def f(a):
    with a:
        return a.n
