def f(cb):
    n = 0
    def inc():
        nonlocal n
        cb()
        n = 1
    def get():
        return n
    return inc, get
