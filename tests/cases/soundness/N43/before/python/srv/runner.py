from srv.parallel import ParallelState


class Runner:
    def __init__(self, tp_rank, tp_size):
        self.tp_rank = tp_rank
        self.tp_size = tp_size
        self.ps = ParallelState(tp_rank=tp_rank, tp_size=tp_size)

    def label(self):
        return f"{self.tp_rank}/{self.tp_size}"

    def is_last(self):
        return self.tp_rank == self.tp_size - 1
