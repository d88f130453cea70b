_MANY = (list, tuple)


def flat(x):
    if isinstance(x, _MANY):
        return [y for part in x for y in flat(part)]
    return [x]
