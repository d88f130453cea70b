from contextlib import suppress


class K:
    def start(self):
        self.v = 1

    def f(self):
        h(v=self.v)


def h(*, v):
    with suppress(AttributeError):
        print(v)
