def node_of(gpu):
    return gpu // 4
