from srv.runner import clip


def serve(n):
    return clip(n * 10)
