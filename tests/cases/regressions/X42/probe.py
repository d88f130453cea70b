from contextlib import contextmanager

from m import step


@contextmanager
def named(name):
    print('in', name)
    yield
    print('out', name)


step(named('lock'), named('timer'), lambda: print('run'))
