import dst


class A:
    def f(self):
        return dst.f()

    def last(self):
        return dst.last()