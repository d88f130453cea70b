def span(rows):
    hi = _hi(rows=rows)
    lo = _lo(rows=rows)
    return hi - lo


def _hi(*, rows):
    hi = max(r for r in rows)
    return hi


def _lo(*, rows):
    lo = min([r for r in rows])
    return lo
