from srv.tick import tick


def f(a=tick()):
    total = a * 10
    total += len(str(a))
    return total
