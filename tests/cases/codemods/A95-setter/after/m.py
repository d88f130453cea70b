def watched(fn):
    @property
    def inner(self):
        return fn(self)
    return inner


def box_n(*, n):
    return n


class Box:
    def __init__(self):
        self._n = 2

    @watched
    def size(self):
        return self._n * 10

    @property
    def n(self):
        return box_n(n=self._n)

    @n.setter
    def n(self, v):
        self._n = v
