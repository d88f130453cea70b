from srv.quiet import size


def used() -> int:
    return size(["a", "b"])
