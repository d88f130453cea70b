from srv.runner import run


def serve():
    return run(num_steps=3, eager=True) + run(4)
