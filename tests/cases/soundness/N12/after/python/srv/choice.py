def best(names):
    return sorted(names)[0]
