from srv.tick import tick

K = 1


def i():
    return tick()
