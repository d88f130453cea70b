class A:
    def __init__(self):
        self.__k = 1

    def f(self, step):
        self.__k += step
        return self.__k, getattr(self, "__k", None)

    def own(self):
        return self.f(1)


class B(A):
    def below(self):
        return self.f(2)


class Other:
    def beside(self, a: A):
        return a.f(3)


def outside(a: A):
    a.f(4)
    return a._A__k
