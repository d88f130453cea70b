def copy(paths, errors, log):
    for path in paths:
        if path in errors:
            log.append((path, errors[path], len(paths)))
        else:
            log.append(path)
    return len(log)
