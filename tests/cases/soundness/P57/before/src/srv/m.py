from srv.tick import tick

X = tick()


def f(a=tick()):
    return a
