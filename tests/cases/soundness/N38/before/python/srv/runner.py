def chunk(items, size=8):
    return [items[k : k + size] for k in range(0, len(items), size)]


def run(items):
    return len(chunk(items))
