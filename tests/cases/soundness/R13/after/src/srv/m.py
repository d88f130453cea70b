from srv import cfg


def go():
    return take(cfg.G)


def take(g):
    cfg.put()
    return g + 1
