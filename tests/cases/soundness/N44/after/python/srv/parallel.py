from dataclasses import dataclass


@dataclass(frozen=True)
class ParallelState:
    tp_rank: int
    tp_size: int
