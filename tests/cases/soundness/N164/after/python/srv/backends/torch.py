from srv.backends.limits import clip


def run(n):
    return clip(n)
