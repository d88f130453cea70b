from srv.n import double


def use(x):
    return double(x)
