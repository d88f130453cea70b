from types import SimpleNamespace


class Runner:
    def __init__(self, rank):
        self.ps = SimpleNamespace(rank=rank)

    def label(self):
        return f"runner {self.ps.rank}"


class Draft:
    def __init__(self, rank):
        self.ps = SimpleNamespace(rank=0)
        self.rank = rank

    def label(self):
        return f"draft {self.ps.rank}"
