def f(step, *, k, self_k):
    k += step
    return (k, self_k), k


class A:
    def __init__(self):
        self.__k = 1

    def own(self):
        result, self.__k = f(1, k=self.__k, self_k=getattr(self, "__k", None))
        return result


class B(A):
    def below(self):
        result, self._A__k = f(2, k=self._A__k, self_k=getattr(self, "__k", None))
        return result


class Other:
    def beside(self, a: A):
        result, a._A__k = f(3, k=a._A__k, self_k=getattr(a, "__k", None))
        return result


def outside(a: A):
    _, a._A__k = f(4, k=a._A__k, self_k=getattr(a, "__k", None))
    return a._A__k
