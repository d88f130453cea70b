class Runner:
    def __init__(self, graph):
        self.graph = graph

    def size(self):
        if self.graph is None:
            return 0
        return self.graph.size
