def f():
    a = _one()
    return _last(a=a)


def _one():
    # start
    a = 1  # one
    return a


def _last(*, a):
    # tail
    return a