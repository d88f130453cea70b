from srv.sub.n import f


def g():
    return f(2)
