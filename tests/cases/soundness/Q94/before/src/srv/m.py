def run(items, log):
    shown = (f"{each}/{len(log)}" for each in items)
    log.append(1)
    return list(shown)
