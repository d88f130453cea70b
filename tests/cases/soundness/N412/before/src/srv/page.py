from srv.data import size


def used() -> int:
    return size(["a", "b"])
