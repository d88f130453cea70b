def collect(item):
    seen = []
    seen.append(item)
    return seen
