from typing import NamedTuple


class ParallelState(NamedTuple):
    rank: int
    size: int
