from srv.runner import do_run as run


def twice(n):
    return run(run(n))
