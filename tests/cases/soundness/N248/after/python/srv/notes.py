def note(text, *, log):
    log.append(text.upper())
    log.append("--")
