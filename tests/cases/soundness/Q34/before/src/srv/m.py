def f():
    x = 1
    def g():
        return x
    r = g()
    x = 2
    return r, g()
