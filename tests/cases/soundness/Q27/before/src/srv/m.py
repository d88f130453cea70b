def f(a):
    x = a
    def g():
        y = 5
        y = 6
        def h():
            return x
        return h
    x = 2
    return g()()
