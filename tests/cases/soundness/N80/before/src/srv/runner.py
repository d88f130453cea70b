from srv.numa import node_of


def place(gpu):
    return node_of(gpu)
