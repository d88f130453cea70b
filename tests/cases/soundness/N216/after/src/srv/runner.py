def run(num_steps):
    return walk(n=num_steps) + 1


def walk(n):
    return n * 2
