def traced(run, *args, **kwargs):
    return run(*args, **kwargs)
