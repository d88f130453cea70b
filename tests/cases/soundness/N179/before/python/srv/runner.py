from types import SimpleNamespace


class Runner:
    def __init__(self, rank, size):
        self.rank = rank
        self.ps = SimpleNamespace(rank=rank, size=size)

    def label(self):
        return f"rank {self.rank}"
