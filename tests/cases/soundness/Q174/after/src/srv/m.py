def run(x, log):
    if x and x > 1:
        log.append('big')
    else:
        log.append('one')
    return log
