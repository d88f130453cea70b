def run(n):
    return n + 1


def _old_run(n):
    return n + 2
