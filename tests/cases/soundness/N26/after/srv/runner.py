# Runs a number of steps; the caller holds the lock.
def run(steps):
    total = 0
    for step in range(steps):
        # Each step counts once.
        total += step
    return total
