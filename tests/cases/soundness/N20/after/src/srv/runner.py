def double(step):
    return step * 2


def run(steps):
    return [double(step) for step in steps]
