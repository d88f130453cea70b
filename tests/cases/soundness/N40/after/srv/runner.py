class Runner:
    def __init__(self, graph):
        self.graph = graph

    def size(self):
        return size(graph=self.graph, graph_size=self.graph.size)


def size(*, graph, graph_size):
    if graph is None:
        return 0
    return graph_size
