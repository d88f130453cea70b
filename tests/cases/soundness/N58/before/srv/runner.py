def run(sizes):
    low = min(sizes)
    high = max(sizes)
    return f"{low}..{high}"
