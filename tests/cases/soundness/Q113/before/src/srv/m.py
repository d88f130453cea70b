from srv.cli import typed


@typed
def double(value: int):
    return value * 2
