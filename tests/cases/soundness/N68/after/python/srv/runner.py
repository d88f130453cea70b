def fill(n, out, step):
    for step in range(n):
        out.append(step)
    return step


def run(n):
    step = -1
    out = []
    step = fill(n, out, step)
    return out, step
