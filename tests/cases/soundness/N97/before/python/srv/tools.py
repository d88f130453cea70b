import srv.numa_utils


def spread(gpus):
    return [srv.numa_utils.node_of(gpu) for gpu in range(gpus)]
