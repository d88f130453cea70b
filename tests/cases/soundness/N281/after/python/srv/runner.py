from srv.core.limits import clip


def run(n):
    return clip(n)
