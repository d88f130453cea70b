from srv.numa import node_of


def place(gpu, numa):
    return node_of(gpu) if numa else 0
