def bounds(sizes):
    low = min(sizes)
    high = max(sizes)
    return high, low


def run(sizes):
    low, high = bounds(sizes)
    return f"{low}..{high}"
