def reset(text, *, log):
    log = []
    log.append(text)
