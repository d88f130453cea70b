def request(*, slot, page):
    return f"slot {slot} page {page}"


def make(free):
    return request(page=free.pop(), slot=free.pop())
