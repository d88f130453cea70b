from srv.names import *


def serve(n):
    return tag(double(n))
