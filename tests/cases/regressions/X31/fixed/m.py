def collect(item, seen=None):
    if seen is None:
        seen = []
    seen.append(item)
    return seen
