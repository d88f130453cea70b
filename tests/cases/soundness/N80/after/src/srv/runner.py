from srv import cpu


def place(gpu):
    return cpu.node_of(gpu)
