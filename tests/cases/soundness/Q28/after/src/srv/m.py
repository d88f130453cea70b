def f(a):
    x = 1
    class C:
        def m(self):
            return x
    y = a
    return C().m(), y
