def best(names):
    return names[0] if names else None
