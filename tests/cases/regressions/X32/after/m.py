def block(size, conf):
    size = size or conf.block
    return size
