def request(*, slot, page):
    return f"slot {slot} page {page}"


def make(free):
    return request(slot=free.pop(), page=free.pop())
