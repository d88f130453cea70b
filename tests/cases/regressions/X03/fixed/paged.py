def make_paged(size, page):
    size = max(size, page)
    return {"pages": size // page}
