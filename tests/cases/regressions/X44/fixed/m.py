def traced(run, *args, **kwargs):
    result = run(*args, **kwargs)
    return result
