class T:
    def __init__(self):
        self.k = 1

    def walk(self, n):
        return walk(self, n, k=self.k)


def walk(t, n, *, k):
    if n:
        walk(t, n.left, k=k)
        return k
    t.k = 2
    return 0
