class K:
    @staticmethod
    def s(x):
        return x + 1

    def f(self, other, a):
        return K.s(a)


class Other:
    def s(self, x):
        return x + 2
