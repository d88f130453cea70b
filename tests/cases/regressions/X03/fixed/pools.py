from paged import make_paged


def make(kind, size):
    if kind == "paged":
        return make_paged(size, 16)
    return {"bytes": size}
