from srv.request import Request


def make(n):
    return Request(tokens=n, slot=1)
