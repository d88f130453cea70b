from srv.tick import tick

K = 1


def f(a=tick()):
    return a
