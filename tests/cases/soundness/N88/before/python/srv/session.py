def report(runner):
    return f"{getattr(runner, 'cnt', -1)} steps"
