def split_pages(page, *, tokens):
    pages, rest = divmod(tokens, page)
    return pages, rest
