from srv.config import settings

settings["eager"] = True


def double(n):
    return n * 2
