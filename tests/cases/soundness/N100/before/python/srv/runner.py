class Runner:
    __slots__ = ("n",)

    def __init__(self, n):
        self.n = n

    def size(self):
        return self.n
