class A:
    def f(self):
        return 1

    def last(self):
        return 2