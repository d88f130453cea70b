def make(kind, runner):
    return kind(runner)
