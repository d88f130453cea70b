def f():
    def g():
        return x
    x = (2, 3, 4)
    return g()
