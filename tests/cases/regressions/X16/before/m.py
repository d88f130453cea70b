def fast_sort(xs):
    return sorted(xs)


def slow_sort(xs):
    return list(reversed(sorted(xs, reverse=True)))
