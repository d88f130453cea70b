def run(x, log):
    if x > 0:
        _plus(x, log)
    else:
        _minus(x, log)


def _plus(x, log):
    log.append('plus')
    log.append(x)


def _minus(x, log):
    log.append('minus')
    log.append(-x)
