def slow(xs):
    total = 0
    for x in xs:
        total += x
    return "slow", total


def best():
    try:
        from kern import quick
    except ImportError:
        return slow
    return quick
