def run(log):
    log.append(1)
    log.append(2)
