_count = [0]


def tick():
    _count[0] += 1
    return _count[0]
