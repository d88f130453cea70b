import warnings


def old_run(n):
    warnings.warn(f"old_run({n})", DeprecationWarning, stacklevel=2)
    return n
