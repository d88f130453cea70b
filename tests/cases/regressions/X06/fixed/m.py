def _fail(path, reason, *, total, log):
    log.append((path, reason, total))


def copy(paths, errors, log):
    for path in paths:
        if path in errors:
            _fail(path, errors[path], total=len(paths), log=log)
        else:
            log.append(path)
    return len(log)
