__all__ = ["f"]


def f():
    return 1
