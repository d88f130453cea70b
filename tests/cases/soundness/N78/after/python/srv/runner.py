from srv import numa


class Runner:
    def __init__(self, gpu):
        self.gpu = gpu

    def node(self):
        return numa.node_of(self.gpu)

    def label(self):
        return f"node {numa.node_of(gpu=self.gpu)}"
