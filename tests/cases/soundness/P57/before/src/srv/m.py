from srv.tick import tick

X = tick()


def f(a=tick()):
    total = a * 10
    total += len(str(a))
    return total
