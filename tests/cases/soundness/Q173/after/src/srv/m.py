def run(x, log):
    if not x:
        return log
    if x > 1:
        log.append('big')
    else:
        log.append('one')
    return log
