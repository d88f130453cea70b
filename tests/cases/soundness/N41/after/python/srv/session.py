from srv.limits import clip


def total(sizes):
    return sum(clip(size) for size in sizes)
