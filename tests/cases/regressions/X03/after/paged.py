def make_paged(size, page):
    return {"pages": size // page}
