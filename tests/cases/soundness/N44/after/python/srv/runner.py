from srv.parallel import ParallelState


class Runner:
    def __init__(self, tp_rank, tp_size):
        self.tp_rank = tp_rank
        self.ps = ParallelState(tp_rank=tp_rank, tp_size=tp_size)

    def rebalance(self):
        self.tp_rank = 0

    def label(self):
        return f"rank {self.ps.tp_rank}"
