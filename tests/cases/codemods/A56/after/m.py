def f(*, k, self_k):
    return k, self_k


class A:
    def __init__(self):
        self.__k = 1
        setattr(self, "__k", 2)

    def f(self):
        return f(k=self.__k, self_k=getattr(self, "__k"))
