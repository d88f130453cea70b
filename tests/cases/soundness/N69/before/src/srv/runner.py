def run(steps):
    scale = 2
    scaler = lambda step: step * scale
    scale = 10
    return [scaler(step) for step in steps] + [scale]
