def load(names, want, read):
    return [read(name) for name in names if want(name)]
