from typing import NamedTuple


class K:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def f(self):
        return self.a - self.b
