def retry(f, times):
    return [f() for _ in range(times)]
