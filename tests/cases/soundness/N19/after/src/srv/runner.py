def bump(count, by):
    count += by


def run(steps):
    count = 0
    for step in steps:
        bump(count, step)
    return count
