from srv.one import LIMIT


def f(*, a=LIMIT):
    return a
