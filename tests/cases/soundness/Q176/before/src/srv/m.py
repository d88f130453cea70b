def run(a, b, log):
    if a:
        if b:
            log.append('both')
