# Runs.
def run(steps):
    total = 0  # sum
    for step in range(steps):
        total += step
    return total
