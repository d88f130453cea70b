def load(names, want, read):
    found = []
    for name in names:
        if want(name):
            found.append(read(name))
    return found
