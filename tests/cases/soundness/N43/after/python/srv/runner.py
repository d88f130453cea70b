from srv.parallel import ParallelState


class Runner:
    def __init__(self, tp_rank, tp_size):
        self.ps = ParallelState(tp_rank=tp_rank, tp_size=tp_size)

    def label(self):
        return f"{self.ps.tp_rank}/{self.ps.tp_size}"

    def is_last(self):
        return self.ps.tp_rank == self.ps.tp_size - 1
