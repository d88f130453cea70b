class A:
    def __init__(self):
        self.n = 1

    @staticmethod
    def later(*, n):
        return lambda: n()
