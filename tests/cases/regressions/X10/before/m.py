def size(kind):
    if kind == "small":
        return 1
    elif kind == "large":
        return 8
    raise ValueError(kind)
