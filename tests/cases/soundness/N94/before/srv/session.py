from srv.runner import do_run


def serve(n):
    return do_run(n)
