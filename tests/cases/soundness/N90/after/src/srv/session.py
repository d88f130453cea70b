from srv.runner import run


def serve():
    return run(n=3, eager=True)
