def run(a, b, log):
    if a and b:
        log.append('both')
