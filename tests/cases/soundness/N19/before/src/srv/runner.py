def run(steps):
    count = 0

    def bump(by):
        nonlocal count
        count += by

    for step in steps:
        bump(step)
    return count
