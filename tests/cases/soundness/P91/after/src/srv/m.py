from srv.n import f


def g():
    return f() + f(2)
