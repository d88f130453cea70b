from contextlib import suppress


class K:
    def start(self):
        self.v = 1

    def f(self):
        with suppress(AttributeError):
            print(self.v)
