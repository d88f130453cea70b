from srv.runner import Draft, Runner


def make(n: int) -> "Runner":
    return Draft(n)


def check(runner):
    return isinstance(runner, Runner)
