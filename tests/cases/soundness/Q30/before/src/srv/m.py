def f(cb):
    n = 0
    def inc():
        nonlocal n
        n = 1
        cb()
    def get():
        return n
    return inc, get
