from srv.types import Step


def wrap(n):
    return Step(n)


def run(n):
    return wrap(n).n
