from srv.runner import run_steps as run


def twice(n):
    return run(run(n))
