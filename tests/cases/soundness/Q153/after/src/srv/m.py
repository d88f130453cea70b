from srv.n import down, up


def run(x):
    return down(up(x))
