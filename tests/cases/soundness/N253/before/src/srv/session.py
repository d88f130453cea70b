def sizes(runner, given):
    return [runner.clip(n) for n in given]
