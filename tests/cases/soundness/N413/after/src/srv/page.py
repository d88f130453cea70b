from srv.pick import picked


def used() -> list[str]:
    return picked(["b", "a"])
