from dataclasses import dataclass


@dataclass(frozen=True)
class ParallelState:
    rank: int
    size: int
