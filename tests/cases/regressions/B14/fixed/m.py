def ctx(layers, companion):
    return (len(layers), companion)


def graph(r):
    return ctx(r["layers"], companion=r["mha"])


def eager(r):
    return ctx(r["layers"], companion=r["mha"])
