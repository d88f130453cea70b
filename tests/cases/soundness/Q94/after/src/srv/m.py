def run(items, log):
    size = len(log)
    shown = (f"{each}/{size}" for each in items)
    log.append(1)
    return list(shown)
