def fill(n, out):
    for step in range(n):
        out.append(step)


def run(n):
    step = -1
    out = []
    fill(n, out)
    return out, step
