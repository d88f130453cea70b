import dst


class A:
    def f(self):
        try:
            return int("x")
        except ValueError :
            return 0

    def g(self):
        return dst.g()
