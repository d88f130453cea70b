def extend(steps, more):
    steps = steps + more
    return steps
