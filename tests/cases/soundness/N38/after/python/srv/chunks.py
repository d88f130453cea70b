def chunk(items, size=16):
    return [items[k : k + size] for k in range(0, len(items), size)]
