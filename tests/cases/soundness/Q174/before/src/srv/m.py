def run(x, log):
    if x:
        if x > 1:
            log.append('big')
        else:
            log.append('one')
    return log
