from srv.n import double


def run(x):
    return double(x) + 1
