from srv import numa_utils


def place(gpu):
    return numa_utils.node_of(gpu)
