SIZES = {"small": 1, "large": 8}


def size(kind):
    return SIZES.get(kind, 8)
