from srv.runner import Runner


def sizes(runner, given):
    return [Runner.clip(runner, n) for n in given]
