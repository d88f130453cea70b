from srv.collections import size


def used() -> int:
    return size(["a", "b"])
