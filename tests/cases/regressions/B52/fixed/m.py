def _refuse_multi(g):
    if g == "multi":
        raise NotImplementedError


def not_multi(fn):
    def inner(g):
        _refuse_multi(g)
        return fn(g)
    return inner


@not_multi
def nodes(g):
    yield g
