from srv.runner import clip, run


def serve(n):
    return clip(run(n))
