def add(x, seen=None):
    if seen is None:
        seen = []
    seen.append(x)
    return len(seen)
