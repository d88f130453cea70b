def run(steps):
    total = 0
    for step in steps:
        total += step
    return f"{total} tokens"
