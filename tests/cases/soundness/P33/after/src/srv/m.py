class K:
    @staticmethod
    def s(x):
        return x + 1

    def f(self, other, a):
        return self.s(a)


class L(K):
    @staticmethod
    def s(x):
        return x + 2
