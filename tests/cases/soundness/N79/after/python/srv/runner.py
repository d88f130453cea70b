from srv import numa


def place(gpu, numa):
    return numa.node_of(gpu) if numa else 0
