from srv.clips import clip


def serve(n):
    return clip(n)
