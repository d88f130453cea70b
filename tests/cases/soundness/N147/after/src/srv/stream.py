def load(trace, n):
    trace.append(n)
    return n


def first(trace):
    for item in [load(trace, n) for n in range(3)]:
        return item
