def run(x, log):
    if x > 0:
        _minus(x, log)
    else:
        _plus(x, log)


def _plus(x, log):
    log.append('plus')
    log.append(x)


def _minus(x, log):
    log.append('minus')
    log.append(-x)
