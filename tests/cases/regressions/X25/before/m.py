def flat(x):
    if isinstance(x, (list, tuple, set)):
        return [y for part in x for y in flat(part)]
    return [x]
