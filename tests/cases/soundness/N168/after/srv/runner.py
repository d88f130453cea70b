from srv.limits import clip, сlip


def run(n):
    return сlip(n)
