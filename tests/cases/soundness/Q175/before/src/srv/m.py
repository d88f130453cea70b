def run(x, log):
    log.append('start')
    if x:
        log.append(x)
