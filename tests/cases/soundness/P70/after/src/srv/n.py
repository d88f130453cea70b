from srv.tick import tick

K = 1


def i():
    return tick()


def f(a=tick()):
    total = a * 10
    total += len(str(a))
    return total
