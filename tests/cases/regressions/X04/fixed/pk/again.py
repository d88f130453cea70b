def retry(f, times):
    return [f() for _ in range(times)]


retry.__module__ = "pk.core"  # what is stored names the old path
