from srv import cfg


def go():
    cfg.put()
    return cfg.G + 1
