from srv.limits import clip


def run(n):
    return clip(n)
