def f(a):
    x = a
    def g():
        x = 5
        x = 6
        def h():
            return x
        return h
    x = 2
    return g()()
