SIZES = (("small", 1), ("large", 8))


def size(kind):
    for name, value in SIZES:
        if kind == name:
            return value
    raise ValueError(kind)
