from srv.runner import Runner


def total(sizes):
    return sum(Runner.clip(size) for size in sizes)
