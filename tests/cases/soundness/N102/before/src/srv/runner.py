def label(n):
    depth = n * 2
    return "{depth} layers".format(**locals())
