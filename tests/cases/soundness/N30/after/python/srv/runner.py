from srv.devices import device


class Runner:
    def __init__(self, rank, size):
        self.rank = rank
        self.size = size

    def device(self, per_node=8):
        return device(per_node, rank=self.rank, size=self.size)
