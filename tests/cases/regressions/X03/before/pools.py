def _paged(size, page):
    size = max(size, page)
    return {"pages": size // page}


def make(kind, size):
    if kind == "paged":
        return _paged(size, 16)
    return {"bytes": size}
