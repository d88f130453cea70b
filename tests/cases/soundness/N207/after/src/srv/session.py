from srv.core.clips import clip


def serve(n):
    return clip(n)
