from srv.cli import typed


@typed
def double(value):
    return value * 2
