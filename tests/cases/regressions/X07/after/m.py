def _good(rows):
    for r in rows:
        if r > 0:
            yield r


def summary(rows):
    good = _good(rows)
    return sum(good), max(good, default=0)
