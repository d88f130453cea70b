def run(x, log):
    if x > 0:
        log.append('plus')
        log.append(x)
    else:
        log.append('minus')
        log.append(-x)
