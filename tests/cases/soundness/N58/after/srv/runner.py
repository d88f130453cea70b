def bounds(sizes):
    low = min(sizes)
    high = max(sizes)
    return low, high


def run(sizes):
    low, high = bounds(sizes)
    return f"{low}..{high}"
