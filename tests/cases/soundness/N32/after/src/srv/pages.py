def num_pages(spare, *, tokens, page):
    return -(-tokens // page) + spare
