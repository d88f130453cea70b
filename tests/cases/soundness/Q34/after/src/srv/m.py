def f():
    x = 1
    def g():
        return x
    x = 2
    r = g()
    return r, g()
