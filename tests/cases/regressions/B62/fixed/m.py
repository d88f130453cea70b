def _wrappers(ragged):
    return ("w", ragged)


def setup(paged):
    ragged = not paged
    return _wrappers(ragged), {"ragged": ragged}
