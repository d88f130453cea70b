class Runner:
    def __init__(self):
        self.graph = object()

    def drop(self):
        drop(graph=self.graph)


def drop(*, graph):
    del graph
