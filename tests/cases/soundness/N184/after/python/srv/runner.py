import warnings


def _warn(n):
    warnings.warn(f"old_run({n})", DeprecationWarning, stacklevel=2)


def old_run(n):
    _warn(n)
    return n
