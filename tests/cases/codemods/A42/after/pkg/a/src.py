from .b import dst


class A:
    def f(self):
        return dst.f()
