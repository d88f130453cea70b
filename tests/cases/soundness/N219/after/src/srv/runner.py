from srv.clips import clip


def run(n):
    return clip(n)
