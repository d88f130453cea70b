from srv.runner import run


def serve():
    return run(3, False)
