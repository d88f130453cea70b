def total(xs):
    return sum(_squares(xs=xs))


def _squares(*, xs):
    return (x * x for x in xs)
