import srv.m


def names():
    return [each for each in ('_old', 'run') if hasattr(srv.m, each)]
