def make_scaler(scale):
    return lambda step: step * scale


def run(steps):
    scale = 2
    scaler = make_scaler(scale)
    scale = 10
    return [scaler(step) for step in steps] + [scale]
