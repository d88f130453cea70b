from srv.mixins import Ranked
from srv.parallel import ParallelState


class Runner(Ranked):
    def __init__(self, rank, size):
        self.ps = ParallelState(rank=rank, size=size)

    def label(self):
        return f"rank {self.ps.rank}"
