class Runner:
    def __init__(self):
        self.graph = object()

    def drop(self):
        del self.graph
