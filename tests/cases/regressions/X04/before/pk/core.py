__all__ = ["retry", "once"]


def once(f):
    return f()


def retry(f, times):
    return [f() for _ in range(times)]
