from srv.tick import tick


def f(a=tick()):
    return a
