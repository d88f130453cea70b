from pk.again import retry

__all__ = ["once"]


def once(f):
    return f()
