from typing import NamedTuple


class Args(NamedTuple):
    page_size: int
    eos: int
