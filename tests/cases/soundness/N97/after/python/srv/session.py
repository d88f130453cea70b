from srv import numa


def place(gpu):
    return numa.node_of(gpu)
