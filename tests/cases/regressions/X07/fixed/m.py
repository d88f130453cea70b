def _good(rows):
    return [r for r in rows if r > 0]


def summary(rows):
    good = _good(rows)
    return sum(good), max(good, default=0)
