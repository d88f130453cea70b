def add(x, seen=[]):
    seen.append(x)
    return len(seen)
