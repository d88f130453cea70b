def block(size, conf):
    return conf.block if size is None else size
