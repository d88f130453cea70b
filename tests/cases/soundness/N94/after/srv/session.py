from srv.runner import run_steps


def serve(n):
    return run_steps(n)
