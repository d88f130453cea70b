from typing import NamedTuple


class Top(NamedTuple):
    ids: list
    weights: list


def top(xs):
    order = sorted(range(len(xs)), key=lambda i: -xs[i])[:2]
    return Top(ids=order, weights=[xs[i] for i in order])


def use(xs):
    best = top(xs)
    return sum(i * w for i, w in zip(best.ids, best.weights)), best.ids
