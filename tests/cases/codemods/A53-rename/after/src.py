def g2():
    return 1


def g():
    return 2


__all__ = ["g"]
__all__ += ["g2"]
