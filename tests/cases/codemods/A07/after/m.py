def keep(xs):
    last = None
    kept, last = _keep(xs=xs, last=last)
    return kept, last


def _keep(*, xs, last):
    kept = [last := x for x in xs if x]
    return kept, last
