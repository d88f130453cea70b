def load(names, want, read):
    found = [(name, read(name)) for name in names]
    return [value for name, value in found if want(name)]
