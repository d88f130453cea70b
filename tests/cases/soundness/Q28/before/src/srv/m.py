def f(a):
    x = 1
    class C:
        def m(self):
            return x
    x = a
    return C().m(), x
