def run(x, log):
    if not x:
        return
    log.append('start')
    log.append(x)
