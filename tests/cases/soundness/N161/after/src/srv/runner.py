from srv.steps import wrap


def run(n):
    return wrap(n).n
