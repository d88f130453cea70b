from srv.numa import node_of


class Runner:
    def __init__(self, gpu):
        self.gpu = gpu

    def node(self):
        return node_of(self.gpu)

    def label(self):
        return f"node {node_of(gpu=self.gpu)}"
