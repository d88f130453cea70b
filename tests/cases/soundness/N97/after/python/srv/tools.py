import srv.numa


def spread(gpus):
    return [srv.numa.node_of(gpu) for gpu in range(gpus)]
