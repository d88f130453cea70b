def summary(rows):
    good = [r for r in rows if r > 0]
    return sum(good), max(good, default=0)
