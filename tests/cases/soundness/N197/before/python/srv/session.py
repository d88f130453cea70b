from srv.runner import Draft, ModelRunner


def make(n: int) -> "ModelRunner":
    return Draft(n)


def check(runner):
    return isinstance(runner, ModelRunner)
