from srv.parallel import ParallelState


class Runner:
    def __init__(self, rank, size):
        self.ps = ParallelState(rank=rank, size=size)

    def label(self):
        return f"{self.ps.rank}/{self.ps.size}"
