def run(steps):
    n = 0
    total = 100
    for step in steps:
        n += step
    return total - n
