from typing import NamedTuple


class State(NamedTuple):
    a: int
    b: int


class K:
    def __init__(self, a, b):
        self.state = State(a=b, b=a)

    def f(self):
        return self.state.a - self.state.b
