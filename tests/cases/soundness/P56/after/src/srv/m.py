from srv.two import LIMIT


def f(*, a=LIMIT):
    return a
