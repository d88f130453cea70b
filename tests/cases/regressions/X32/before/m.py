def block(size, conf):
    if size is None:
        size = conf.block
    return size
