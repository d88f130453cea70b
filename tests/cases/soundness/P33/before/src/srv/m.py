class K:
    @staticmethod
    def s(x):
        return x + 1

    def f(self, other, a):
        return K.s(a)


class L(K):
    @staticmethod
    def s(x):
        return x + 2
