from pk.again import retry

__all__ = ["retry", "once"]


def once(f):
    return f()
