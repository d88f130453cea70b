def run(n):
    step = -1
    out = []
    for step in range(n):
        out.append(step)
    return out, step
