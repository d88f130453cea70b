from srv.maths import double


def run(n):
    return double(n)
