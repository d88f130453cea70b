from contextlib import contextmanager


@contextmanager
def on(log):
    log.append('in')
    yield
    log.append('out')


def run(log):
    with on(log):
        log.append(1)
        log.append(2)
