from types import SimpleNamespace


class Runner:
    def __init__(self, rank):
        self.ps = SimpleNamespace(rank=rank)
        self.rank = rank

    def label(self):
        return f"runner {self.rank}"


class Draft:
    def __init__(self, rank):
        self.ps = SimpleNamespace(rank=0)
        self.rank = rank

    def label(self):
        return f"draft {self.rank}"
