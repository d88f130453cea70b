def label(n):
    layers = n * 2
    return "{depth} layers".format(**locals())
